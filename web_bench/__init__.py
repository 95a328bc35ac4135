"""The suite of web servers: static files, the programs behind them, and four papers of them."""
