-- Conversations that wait for a person, and in which queue; a row goes when somebody saw to it.
CREATE TABLE IF NOT EXISTS person_queues (
  connection_id TEXT NOT NULL,
  queue TEXT NOT NULL,
  gate TEXT NOT NULL,
  since TEXT NOT NULL,
  PRIMARY KEY (connection_id, queue)
);
