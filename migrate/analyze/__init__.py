"""Which PyTorch APIs a program uses, what MindSpore has for them, and what a person must do."""
