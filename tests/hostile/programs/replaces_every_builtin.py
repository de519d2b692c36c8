import builtins
def refuse(*given, **named):
    raise RuntimeError("refused")
for name in [name for name in dir(builtins) if name.islower() and name[0] != "_" and name != "setattr"]:
    setattr(builtins, name, refuse)
