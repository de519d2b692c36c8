// What the server asks V8 for.

import './cut'
import './inline'
import './layout'
import './svg'
