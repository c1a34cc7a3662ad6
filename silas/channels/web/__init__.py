"""The cockpit: Silas in the owner's browser. Carries messages and answers; decides nothing."""
