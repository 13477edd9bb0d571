//! Statement life cycle: variables, privileges, prepared statements, DDL, SHOW and system views.
