"""What each chart and table shows, as plain frozen values: pure functions of the evidence, no drawing."""
