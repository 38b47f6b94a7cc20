"""What a run landed, handed over to the user's repository as branches and found again there after a merge."""
