"""Rules R1-R4: calls that the standard does not allow. The host is at fault; a good FMU returns an error all the same.

Their findings are reported on request only, and never count as errors.
"""
