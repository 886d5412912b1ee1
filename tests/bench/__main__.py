"""`python -m tests.bench` is `make bench`."""

from tests.bench.run import main

if __name__ == "__main__":
    main()
