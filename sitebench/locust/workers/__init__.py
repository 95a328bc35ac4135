"""Many processes, on one machine or many, that make the load of one test together.

Locust's own master and workers carry it: messages of ours travel over their connection.

- `messages`: what a master and its workers send each other, as plain data
- `clock`: how far a worker's clock is from the master's
- `merge`: from the workers' drains to one, in order (pure)
- `gathering`: which workers take part in a test
- `master`: the role of a master, and a test's load as it has it
- `worker`: the role of a worker, and its share of the load
- `choice`: what a worker chooses for itself
- `supervisor`: `sitebench worker`, which keeps Locust workers waiting for masters
- `process`: one such worker
"""
