package desired

import "context"
