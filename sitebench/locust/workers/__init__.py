"""Many processes, on one machine or many, that make the load of one test together.

Locust's own master and workers carry it: messages of ours travel over their connection.

- `messages`: what is said, as plain data
- `clock`: how far a worker's clock is from the master's
- `merge`: from the workers' drains to one, in order (pure)
- `seen`: what a result says of each worker, and what follows from it (pure)
- `fleet`: the master's side
- `member`: a worker's side
- `choice`: what a worker decides for itself
- `supervisor`: `sitebench worker`, which keeps Locust workers waiting for masters
"""
