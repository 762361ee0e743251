"""What people and agents say of memories: new ones, ratings, and those made active again."""
