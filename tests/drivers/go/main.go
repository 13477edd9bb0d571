// Typed round trip through go-sql-driver/mysql: text protocol by interpolateParams, binary protocol without.
package main

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	_ "github.com/go-sql-driver/mysql"
)

func roundTrip(text, binary *sql.DB, columnType, literal string) error {
	statements := []string{
		"DROP TABLE IF EXISTS drivers.t",
		"CREATE TABLE drivers.t (id INT PRIMARY KEY, c " + columnType + ")",
		"INSERT INTO drivers.t VALUES (1, " + literal + ")",
	}
	for _, statement := range statements {
		if _, err := text.Exec(statement); err != nil {
			return err
		}
	}
	for id, db := range map[int]*sql.DB{2: text, 3: binary} {
		value, err := read(db)
		if err != nil {
			return err
		}
		if _, err := db.Exec("INSERT INTO drivers.t VALUES (?, ?)", id, value); err != nil {
			return fmt.Errorf("id %d: %w", id, err)
		}
	}
	var equal int
	query := "SELECT COUNT(*) FROM drivers.t a JOIN drivers.t b ON b.id = 1 WHERE a.c <=> b.c"
	if err := text.QueryRow(query).Scan(&equal); err != nil {
		return err
	}
	if equal != 3 {
		return fmt.Errorf("%d of 3 rows equal", equal)
	}
	return nil
}

// read gives text as string: the driver sends a []byte parameter as binary, which no charset conversion touches.
func read(db *sql.DB) (any, error) {
	rows, err := db.Query("SELECT c FROM drivers.t WHERE id = ?", 1)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	types, err := rows.ColumnTypes()
	if err != nil || !rows.Next() {
		return nil, fmt.Errorf("no row: %w", err)
	}
	var value any
	if err := rows.Scan(&value); err != nil {
		return nil, err
	}
	name := types[0].DatabaseTypeName()
	if raw, ok := value.([]byte); ok && (strings.HasSuffix(name, "CHAR") || strings.HasSuffix(name, "TEXT")) {
		return string(raw), nil
	}
	return value, nil
}

func open(user string, tls bool, interpolate bool) (*sql.DB, error) {
	mode := "false"
	if tls {
		mode = "skip-verify"
	}
	dsn := fmt.Sprintf("%s:secret@tcp(%s:%s)/?tls=%s&interpolateParams=%t&allowNativePasswords=true&charset=utf8mb4",
		user, os.Getenv("DB_HOST"), os.Getenv("DB_PORT"), mode, interpolate)
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		return nil, err
	}
	return db, db.Ping()
}

func main() {
	var types [][2]string
	raw, err := os.ReadFile(os.Getenv("DB_TYPES"))
	if err == nil {
		err = json.Unmarshal(raw, &types)
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	passed, failed := 0, 0
	for _, account := range strings.Split(os.Getenv("DB_ACCOUNTS"), ",") {
		user, plugin, _ := strings.Cut(account, ":")
		for _, tls := range []bool{true, false} {
			text, err1 := open(user, tls, true)
			binary, err2 := open(user, tls, false)
			if err1 != nil || err2 != nil {
				failed++
				fmt.Println("go", plugin, tls, err1, err2)
				continue
			}
			passed++
			for _, row := range types {
				if err := roundTrip(text, binary, row[0], row[1]); err != nil {
					failed++
					fmt.Printf("go %s tls=%t %s %.40s: %v\n", plugin, tls, row[0], row[1], err)
				} else {
					passed++
				}
			}
			text.Close()
			binary.Close()
		}
	}
	fmt.Printf("go: %d passed, %d failed\n", passed, failed)
	if failed > 0 {
		os.Exit(1)
	}
}
