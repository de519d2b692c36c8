import os
import torch
open(os.path.join(os.path.dirname(torch.__file__), 'evil.py'), 'w')
