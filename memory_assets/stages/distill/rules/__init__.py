"""The observer without a model: finds rules, decisions and facts by their wording."""
