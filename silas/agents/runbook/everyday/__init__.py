"""What is said in a first week and asks for no work: Silas itself, its owner, slips of the pen.

Tables of sentences and what is answered; nothing here looks into a folder or proposes a plan.
"""
