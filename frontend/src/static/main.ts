// What the server asks V8 for.

import './inline'
import './layout'
import './svg'
