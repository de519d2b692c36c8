from torch.utils.cpp_extension import load_inline
load_inline('x', ['int f() { return 1; }'], functions=['f'])
