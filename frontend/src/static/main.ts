// What the server asks V8 for.

import './layout'
import './svg'
