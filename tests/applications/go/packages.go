// Package applications names the modules whose tests are run.
package applications

import _ "github.com/go-sql-driver/mysql"
