"""Objects with `fit`: estimators, transformers and synthesizers, fitted once a draw."""
