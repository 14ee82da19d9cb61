// Becomes a file of the reference's internal package.

package internal

// UseVectors chooses between the two codecs of amd64.
func UseVectors(yes bool) { hasVectorSupport = yes }
