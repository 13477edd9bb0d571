-- MediaWiki's tables as the Tuningathon had them.
CREATE TABLE page (page_id INT UNSIGNED NOT NULL AUTO_INCREMENT, page_namespace INT NOT NULL,
  page_title VARCHAR(255) CHARACTER SET utf8mb3 COLLATE utf8mb3_bin NOT NULL, page_restrictions TINYBLOB NOT NULL,
  page_counter BIGINT UNSIGNED NOT NULL DEFAULT 0, page_is_redirect TINYINT UNSIGNED NOT NULL DEFAULT 0,
  page_is_new TINYINT UNSIGNED NOT NULL DEFAULT 0, page_random DOUBLE UNSIGNED NOT NULL, page_touched BINARY(14) NOT NULL,
  page_latest INT UNSIGNED NOT NULL, page_len INT UNSIGNED NOT NULL, PRIMARY KEY (page_id),
  UNIQUE KEY name_title (page_namespace, page_title), KEY page_random (page_random), KEY page_len (page_len),
  KEY page_redirect_namespace_len (page_is_redirect, page_namespace, page_len)) DEFAULT CHARSET = utf8mb3;
CREATE TABLE revision (rev_id INT UNSIGNED NOT NULL AUTO_INCREMENT, rev_page INT UNSIGNED NOT NULL, rev_text_id INT UNSIGNED NOT NULL,
  rev_comment TINYBLOB NOT NULL, rev_user INT UNSIGNED NOT NULL DEFAULT 0,
  rev_user_text VARCHAR(255) CHARACTER SET utf8mb3 COLLATE utf8mb3_bin NOT NULL DEFAULT '', rev_timestamp BINARY(14) NOT NULL,
  rev_minor_edit TINYINT UNSIGNED NOT NULL DEFAULT 0, rev_deleted TINYINT UNSIGNED NOT NULL DEFAULT 0, rev_len INT UNSIGNED DEFAULT NULL,
  rev_parent_id INT UNSIGNED DEFAULT NULL, rev_sha1 VARBINARY(32) NOT NULL DEFAULT '', PRIMARY KEY (rev_id),
  UNIQUE KEY rev_page_id (rev_page, rev_id), KEY rev_timestamp (rev_timestamp), KEY page_timestamp (rev_page, rev_timestamp),
  KEY user_timestamp (rev_user, rev_timestamp), KEY usertext_timestamp (rev_user_text, rev_timestamp),
  KEY page_user_timestamp (rev_page, rev_user, rev_timestamp)) DEFAULT CHARSET = utf8mb3;
