//! Variables that SET PERSIST_ONLY refuses and that a file of persisted values cannot set: who starts the server says where its files
//! are and whom it listens to. The list is MySQL 9.7's.

/// In order of their names.
const NAMES: [&str; 81] = [
    "admin_address",
    "admin_port",
    "auto_generate_certs",
    "basedir",
    "bind_address",
    "build_id",
    "caching_sha2_password_auto_generate_rsa_keys",
    "caching_sha2_password_private_key_path",
    "caching_sha2_password_public_key_path",
    "character_set_system",
    "character_sets_dir",
    "container_aware",
    "core_file",
    "create_admin_listener_thread",
    "datadir",
    "ft_stopword_file",
    "gtid_executed",
    "gtid_owned",
    "have_compress",
    "have_dynamic_loading",
    "have_geometry",
    "have_profiling",
    "have_query_cache",
    "have_rtree_keys",
    "have_statement_timeout",
    "have_symlink",
    "hostname",
    "init_file",
    "innodb_buffer_pool_load_at_startup",
    "innodb_data_file_path",
    "innodb_data_home_dir",
    "innodb_dedicated_server",
    "innodb_directories",
    "innodb_force_load_corrupted",
    "innodb_log_group_home_dir",
    "innodb_page_size",
    "innodb_read_only",
    "innodb_temp_data_file_path",
    "innodb_temp_tablespaces_dir",
    "innodb_undo_directory",
    "innodb_version",
    "large_files_support",
    "large_page_size",
    "lc_messages_dir",
    "license",
    "locked_in_memory",
    "log_bin",
    "log_bin_basename",
    "log_bin_index",
    "log_error",
    "lower_case_file_system",
    "persist_only_admin_x509_subject",
    "persist_sensitive_variables_in_plaintext",
    "persisted_globals_load",
    "pid_file",
    "plugin_dir",
    "port",
    "protocol_version",
    "relay_log",
    "relay_log_basename",
    "relay_log_index",
    "replica_load_tmpdir",
    "secure_file_priv",
    "server_memory",
    "server_uuid",
    "sha256_password_auto_generate_rsa_keys",
    "sha256_password_private_key_path",
    "sha256_password_public_key_path",
    "skip_external_locking",
    "skip_networking",
    "slave_load_tmpdir",
    "socket",
    "system_time_zone",
    "tls_certificates_enforced_validation",
    "tmpdir",
    "version",
    "version_comment",
    "version_compile_machine",
    "version_compile_os",
    "version_compile_zlib",
    "version_with_update",
];

/// Whether a variable keeps the value that it was started with, whatever is persisted.
pub fn is_never_persisted(name: &str) -> bool {
    NAMES.binary_search(&name).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_order() {
        assert!(NAMES.is_sorted());
        assert!(is_never_persisted("secure_file_priv") && !is_never_persisted("max_connections"));
    }
}
