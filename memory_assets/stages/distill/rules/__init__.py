"""The observer that uses no model: finds rules, decisions and facts by their wording."""
