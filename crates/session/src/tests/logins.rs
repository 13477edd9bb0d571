//! Logins at accounts that failures lock.

use accounts::{ClientHost, LockTime, Locked, PasswordLocking};
use instance::LoginAttempt;

#[test]
fn statements_and_days_unlock() {
    use crate::tests::{check, connect, environment, run, start};
    let (_disk, environment) = environment();
    let instance = start(&environment);
    let mut root = connect(&instance, "root").unwrap();
    let host = ClientHost::local();
    // The answer to a login: an error's number, or 0.
    let login = |user: &str, proved: bool| {
        let account = instance.find_account(user, &host).unwrap();
        let attempt = LoginAttempt::start(&instance, &account);
        let verdict = attempt.map_or(Ok(()), |attempt| attempt.judge(proved, user, &host));
        verdict.map_or_else(|error| error.number(), |()| 0)
    };
    let lock =
        |user: &str| assert_eq!([login(user, false), login(user, false), login(user, true)], [0, 3955, 3955]);
    check(&mut root, &[("create user u failed_login_attempts 2 password_lock_time 2", "OK 0")]);
    for unlocks in [
        "alter user u account unlock",
        "alter user u failed_login_attempts 2",
        "alter user u password_lock_time 2",
        "flush privileges",
    ] {
        lock("u");
        check(
            &mut root,
            &[("alter user u account lock comment 'x'", "OK 0"), ("grant select on *.* to u", "OK 0")],
        );
        assert_eq!(login("u", true), 3955, "{unlocks}");
        check(&mut root, &[(unlocks, "OK 0")]);
        assert_eq!(login("u", true), 0, "{unlocks}");
    }
    lock("u");
    check(&mut root, &[("rename user u to w", "OK 0")]);
    assert_eq!(login("w", true), 3955);
    // A statement that fails, or is rolled back, unlocks nothing.
    run(&mut root, "alter user w account unlock, nobody account unlock");
    assert_eq!(login("w", true), 3955);
    environment.clock.sleep(std::time::Duration::from_secs(86_400));
    assert_eq!(login("w", true), 3955);
    environment.clock.sleep(std::time::Duration::from_secs(86_400));
    assert_eq!(login("w", true), 0);
    // Given up.
    let account = instance.find_account("w", &host).unwrap();
    drop(LoginAttempt::start(&instance, &account));
    assert_eq!(login("w", false), 3955);
    drop(root);
    drop(instance);
    let instance = start(&environment);
    let account = instance.find_account("w", &host).unwrap();
    assert!(LoginAttempt::start(&instance, &account).unwrap().judge(true, "w", &host).is_ok());
}

#[test]
fn one_limit_without_the_other_locks_nothing() {
    for (attempts, time) in [(0, LockTime::Unbounded), (1, LockTime::Days(0)), (0, LockTime::Days(3))] {
        let locking = PasswordLocking::new(attempts, time);
        assert!((0..5).all(|day| locking.judge(false, day).is_ok()), "{locking:?}");
    }
    let forever = PasswordLocking::new(1, LockTime::Unbounded);
    assert_eq!(forever.judge(false, 0), Err(Locked(None)));
    assert_eq!(forever.judge(true, 1_000_000), Err(Locked(None)));
}
