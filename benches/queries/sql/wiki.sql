-- w1 to w5 are the Tuningathon's.

-- w1 ordered: articles last edited by nobody known
SELECT COUNT(*) FROM page p JOIN revision r ON p.page_id = r.rev_page
WHERE p.page_is_redirect = 0 AND p.page_namespace = 0 AND r.rev_user = 0;

-- w2 ordered: and touched since
SELECT COUNT(*) FROM page p JOIN revision r ON p.page_id = r.rev_page
WHERE p.page_is_redirect = 0 AND p.page_namespace = 0 AND r.rev_user = 0 AND p.page_touched > '20120101000000';

-- w3 ordered: the last ones touched
SELECT p.page_id FROM page p JOIN revision r ON p.page_id = r.rev_page
WHERE p.page_is_redirect = 0 AND p.page_namespace = 0 AND r.rev_user = 0 ORDER BY p.page_touched DESC, p.page_id LIMIT 10;

-- w4: articles by editor
SELECT r.rev_user, COUNT(*) AS c FROM page p JOIN revision r ON p.page_id = r.rev_page
WHERE p.page_is_redirect = 0 AND p.page_namespace = 0 GROUP BY r.rev_user ORDER BY c DESC;

-- w5: articles by month
SELECT SUBSTRING(r.rev_timestamp, 1, 6), COUNT(*) AS c FROM page p JOIN revision r ON p.page_id = r.rev_page
WHERE p.page_is_redirect = 0 AND p.page_namespace = 0 GROUP BY SUBSTRING(r.rev_timestamp, 1, 6) ORDER BY c DESC;

-- w6 ordered: a user's contributions, the newest first
SELECT r.rev_id, r.rev_timestamp, r.rev_comment, p.page_namespace, p.page_title, p.page_len
FROM revision r JOIN page p ON p.page_id = r.rev_page
WHERE r.rev_user = 7 AND r.rev_deleted = 0 ORDER BY r.rev_timestamp DESC, r.rev_id DESC LIMIT 50;

-- w7 ordered: talk without an article, and its share at random
SELECT COUNT(*), MIN(talk.page_title), MAX(talk.page_title), AVG(talk.page_random), SUM(talk.page_random * talk.page_len)
FROM page talk LEFT JOIN page article ON article.page_namespace = talk.page_namespace - 1 AND article.page_title = talk.page_title
WHERE talk.page_namespace IN (1, 3) AND article.page_id IS NULL;

-- w8 ordered: kinds of pages and the extremes of their lengths
SELECT COUNT(DISTINCT page_namespace), COUNT(DISTINCT page_is_redirect, page_namespace), MIN(page_len), MAX(page_len) FROM page;
