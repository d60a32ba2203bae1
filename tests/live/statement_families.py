"""Statements of every kind, in families: how many groups each is for us, and how many digests for a server.

Most are one of both. Where a server sees more or fewer, the number stands by its name; all others see as many
as MySQL 9.7, whose number is `theirs`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

OLD_LISTS = ("mysql-5.6", "mariadb-10.5", "mariadb-11.8")
"""`in (1)` and `in (1, 2)` are two for them."""


@dataclass(frozen=True)
class Family:
    statements: tuple[str, ...]
    why: str = ""
    """Where ours and theirs differ."""
    ours: int = 1
    theirs: int = 1
    elsewhere: Mapping[str, int] = field(default_factory=dict)
    named: bool = True
    """Whether the server's text of the digest has the fingerprint of the statements."""


def one(*statements: str, named: bool = True) -> Family:
    """One group, one digest."""
    return Family(statements, named=named)


def lists(*statements: str) -> Family:
    """One group, and two digests where lists of one are counted apart."""
    return Family(
        statements,
        why="a list of one is a list",
        elsewhere=dict.fromkeys(OLD_LISTS, 2),
    )


def ours_joins(why: str, theirs: int, *statements: str, named: bool = True, **elsewhere: int) -> Family:
    numbers = {name.replace("__", ".").replace("_", "-"): number for name, number in elsewhere.items()}
    return Family(statements, why=why, theirs=theirs, elsewhere=numbers, named=named)


def ours_parts(why: str, ours: int, *statements: str) -> Family:
    return Family(statements, why=why, ours=ours, named=False)


FAMILIES = (
    # Literals.
    one(
        "select a from t where b = 1",
        "SELECT a FROM t WHERE b = 'x'",
        'select a from t where b = "x"',
        "select a from t where b = 1.5",
        "select a from t where b = .5",
        "select a from t where b = 1e5",
        "select a from t where b = 1.5E-5",
        "select a from t where b = 0x41",
        "select a from t where b = b'01'",
        "select a from t where b = 0b01",
        "select a from t where b = n'x'",
        "select a from t where b = 'it''s'",
        "select a from t where b = 'it\\'s'",
        'select a from t where b = "say ""x"""',
        "select a from t where b = ''",
        "select a from t where b = 'é 汉 🐬'",
        "select a from t where b = '/* no comment */'",
        "select a from t where b = '-- none either'",
        "select a from t where b = 99999999999999999999999999",
        "select a from t where b = null",
    ),
    ours_joins(
        "MySQL 5.6 and MariaDB keep the sign behind a comparison",
        1,
        "select a from t where c = 1",
        "select a from t where c = -1",
        "select a from t where c = - 1",
        "select a from t where c = +1",
        named=False,
        mysql_5__6=3,
        mariadb_10__5=3,
        mariadb_11__8=3,
    ),
    ours_joins(
        "MariaDB has no token for X'..'",
        1,
        "select a from t where d = 0x41",
        "select a from t where d = x'41'",
        "select a from t where d = X'4142'",
        mariadb_10__5=2,
        mariadb_11__8=2,
    ),
    ours_joins(
        "a character set is part of a string here",
        2,
        "select a from t where e = 'x'",
        "select a from t where e = _utf8mb4'x'",
        "select a from t where e = _latin1 'x'",
        "select a from t where e = _utf8mb4 0x41",
    ),
    ours_joins(
        "TRUE and FALSE are literals here",
        3,
        "select a from t where f = 1",
        "select a from t where f = true",
        "select a from t where f = FALSE",
    ),
    one("select 'x' as a", "select 5 as a"),
    one("select 'x' 'y' as a"),
    one("select 1, 2", "select 1, 2, 3", "select 'x', null, -5, 1.5"),
    one("select -1", "select 1", "select - 1", "select +1", "select null"),
    one("select a - 1 from t", "select a-1 from t", "select a -1 from t", "select a - 2 from t"),
    one("select a * -1 from t", "select a * 1 from t"),
    one("select a from t where b = date '2020-01-01'", "select a from t where b = date'2021-12-31'"),
    one("select a from t where b = timestamp '2020-01-01 00:00:00'"),
    one(
        "select a from t where b > now() - interval 1 day", "select a from t where b > now()-interval '7' day"
    ),
    one("select a from t where b > now() - interval 1 hour"),
    one("select a from t where b is null"),
    one("select a from t where b is not null"),
    one("select a from t where b is unknown"),
    one("select a from t where b <=> null", "select a from t where b <=> 5"),
    # White space, case, comments, quotes.
    one(
        "select a, b from t",
        "SELECT a,b FROM t",
        "select\n  a\t,b\r\nfrom t",
        "select `a`, `b` from `t`",
        "select a, b from t;",
        "/* who */ select a, b from t",
        "select a, /* what */ b from t -- and why",
        "select a, b from t # why",
        "select a, -- first\n b from t",
    ),
    ours_joins(
        "names are the same in small and capital letters",
        3,
        "select aa from t",
        "select AA from t",
        "select aa from T",
    ),
    one("select t.a from shop.t", "select `t` . `a` from `shop`.`t`", "select t.`a` from shop . t"),
    one("select `a b` from `t-1`"),
    one("select a from orders_1"),
    one("select a from orders_2"),
    one("select été from t"),
    one("select a as x from t", "select a AS `x` from t"),
    one("select a x from t"),
    one(
        "select straight_join a from t",
        "select /*! straight_join */ a from t",
        "select /*!40000 straight_join */ a from t",
    ),
    ours_joins(
        "what a later server would run is code here",
        2,
        "select high_priority a from t",
        "select /*!99999 high_priority */ a from t",
        named=False,
    ),
    ours_joins(
        "hints are comments for servers without them",
        1,
        "select /*+ max_execution_time(1000) */ a from hinted",
        "select /*+ MAX_EXECUTION_TIME(2) */ a from hinted",
        named=False,
    ),
    # Lists.
    lists(
        "select a from t where g in (1)",
        "select a from t where g in (1, 2)",
        "select a from t where g in (-1,'x',null)",
        "select a from t where g IN(1,2,3,4,5,6,7,8,9,10,11,12)",
    ),
    lists("select a from t where g not in (1)", "select a from t where g not in ('x', 'y')"),
    lists("delete from t where id in (5)", "delete from t where id in (5, 6, 7)"),
    one("select a from t where g in (1, 2, h)", "select a from t where g in ('x', 'y', 'z', h)"),
    ours_joins(
        "rows of IN are a list",
        2,
        "select a from t where (g, h) in ((1, 2))",
        "select a from t where (g, h) in ((1, 2), (3, 4))",
        "select a from t where (g, h) in ((1, 2), (3, 4), (5, 6))",
        named=False,
    ),
    one("select a from t where g in (select h from u)"),
    one("select concat('x', 'y')", "select concat('x', 'y', 'z')"),
    one("select concat(a, 'x', 'y') from t", "select concat(a, 'x', 'y', 'z') from t"),
    one("select md5('x')", "select md5( 'y' )"),
    one("select a from t order by field(a, 1, 2)", "select a from t order by field(a, 1, 2, 3)"),
    one("call p()"),
    one("call p(1)", "call p('x')"),
    one("call p(1, 2)", "call p(1, 2, 3)"),
    # INSERT.
    ours_joins(
        "one row or several",
        2,
        "insert into t values (1, 2)",
        "insert into t values (1,2),(3,4)",
        "INSERT INTO t VALUES ( 'x' , NULL ) , ( -1 , 2 ), (3, 4)",
        "insert into t values (1, 2, 3)",
        named=False,
    ),
    ours_joins(
        "one row or several, also with expressions",
        2,
        "insert into t (a, b) values (1, now())",
        "insert into t (a, b) values (1, now()), (2, now())",
        named=False,
    ),
    one("insert into t () values ()"),
    one("insert into t (a) values (default)"),
    one("insert into t set a = 1, b = 2", "insert into t set a='x',b=null"),
    one("insert into t select a, b from u where c = 1", "insert into t select a, b from u where c = 2"),
    one("insert ignore into t (a) select 1"),
    one("insert t values (1, 2)"),
    ours_joins(
        "one row or several",
        2,
        "insert into t (a, b) values (1, 2) on duplicate key update b = values(b), a = 5",
        "insert into t (a, b) values (1, 2), (3, 4) on duplicate key update b = values(b), a = 6",
        named=False,
    ),
    ours_joins(
        "one row or several",
        2,
        "replace into t values (1, 2)",
        "replace into t values (3, 4), (5, 6)",
        named=False,
    ),
    # UPDATE, DELETE.
    one("update t set a = 1, b = 'x' where c = 2", "update t set a = null, b = 5 where c = 'y'"),
    one("update t set a = a + 1 where c = 2 limit 1", "update t set a = a+5 where c=3 limit 2"),
    one("update t join u on t.a = u.a set t.b = 1 where u.c = 2"),
    one("delete from t where a = 1 order by b limit 10", "delete from t where a = 2 order by b limit 20"),
    one("delete t from t join u on t.a = u.a where u.c = 1"),
    one("delete from t using t join u where u.c = 1"),
    # SELECT's clauses.
    one("select a from t limit 1", "select a from t limit 100"),
    one("select a from t limit 1, 2", "select a from t limit 5,6"),
    one("select a from t limit 1 offset 2"),
    ours_joins(
        "MySQL 9 keeps the number of a column",
        2,
        "select a, b, c from t order by 1",
        "select a, b, c from t order by 2",
        named=False,
        mysql_5__6=1,
        mariadb_10__5=1,
        mariadb_11__8=1,
    ),
    one("select a from t order by b"),
    one("select a from t order by b asc"),
    one("select a from t order by b desc, c"),
    one(
        "select a, count(*) from t group by a having count(*) > 5",
        "select a, COUNT( * ) from t group by a having count(*)>6",
    ),
    one("select distinct a from t"),
    one("select count(distinct a) from t"),
    one("select sql_no_cache a from t"),
    one("select sql_calc_found_rows a from t limit 5"),
    one("select a from t where b between 1 and 2", "select a from t where b between 'x' and 'y'"),
    one("select a from t where b like 'x%'", "select a from t where b like '%y'"),
    one("select a from t where b like 'x!%' escape '!'"),
    one("select a from t where b = 1 and c = 2 or not d = 3"),
    one("select a from t where b = 1 && c = 2"),
    one("select a from t where b = 1 xor c = 2"),
    one("select a from t where b != 1", "select a from t where b <> 2"),
    one("select a from t where b >= 1"),
    one("select a from t where b & 1 << 2"),
    one("select a from t where b = ~1"),
    one("select a div 2, a mod 3, a % 4 from t"),
    one("select a from t where match (b) against ('x' in boolean mode)"),
    one("select a from t use index (b) where c = 1"),
    one("select a from t force index for join (b) where c = 1"),
    one("select a from t partition (p0)"),
    one("select a from t for update"),
    one("select a from t lock in share mode"),
    one("select a from t where b collate utf8_bin = 'x'"),
    one(
        "select case a when 1 then 'x' else 'y' end from t",
        "select case a when 2 then 3 else null end from t",
    ),
    one("select case when a = 1 then 2 when a = 3 then 4 end from t"),
    one("select if(a, 1, 2) from t", "select if(a, 'x', 'y') from t"),
    one("select cast(a as char(10)) from t", "select cast(a as char(20)) from t"),
    one("select cast(a as decimal(10, 2)) from t"),
    one("select convert(a using utf8) from t"),
    one("select group_concat(a order by b desc separator ',') from t"),
    one("select date_add(a, interval 1 day), extract(year from b) from t"),
    one("select trim(both 'x' from a), substring(a, 1, 2) from t"),
    # Joins and subqueries.
    one("select t.a from t join u on t.a = u.a where u.b = 1"),
    one("select t.a from t inner join u on t.a = u.a where u.b = 1"),
    one("select t.a from t left join u using (a)"),
    one("select t.a from t left outer join u using (a)"),
    one("select t.a from t, u where t.a = u.a"),
    one("select t.a from t natural join u"),
    one("select a from (select b as a from t where c = 1) x where a > 2"),
    one("select a from t where exists (select 1 from u where u.a = t.a)"),
    one("select a from t where b = any (select c from u)"),
    one("select a from t where b > all (select c from u)"),
    one("select a from t union select b from u"),
    one("select a from t union all select b from u limit 5"),
    one("(select a from t) union (select b from u) order by 1 limit 2", named=False),
    one("with x as (select a from t) select a from x where a = 1"),
    one("with recursive n as (select 1 as i union all select i + 1 from n where i < 5) select i from n"),
    one("select row_number() over (partition by a order by b) from t"),
    one("select sum(a) over w from t window w as (order by b rows between 1 preceding and current row)"),
    one("select json_extract(a, '$.x') from t"),
    one("select a -> '$.x', a ->> '$.y' from t"),
    # DDL.
    one("create table n (a int(11) default 1, b varchar(10) not null, primary key (a)) engine = innodb"),
    one("create table if not exists n2 like t"),
    one("create table n3 select a from t"),
    one("alter table n add column z int default 5, drop column b"),
    one("create index i on t (b)"),
    one("create unique index i on t (b(10))"),
    one("drop index i on t"),
    one("create view v as select a from t where b = 1"),
    one("drop view if exists v"),
    one("drop table if exists n"),
    one("truncate table n"),
    one("rename table n to m"),
    one("analyze table t"),
    one("optimize table t"),
    one("create database if not exists d1"),
    one("show databases like 'x'"),
    one("select database()"),
    # Administration.
    one("set sort_buffer_size = 100000", "set sort_buffer_size = 200000"),
    one("set session sort_buffer_size = default"),
    one("set @@session.sort_buffer_size = 100000"),
    one("select @@global.sort_buffer_size, @@version"),
    one("set names utf8mb4"),
    one("set names 'utf8mb4'"),
    one("set autocommit = 1", "set autocommit=0"),
    one("set autocommit = on"),
    one("set transaction isolation level read committed"),
    one("show tables"),
    one("show tables like 'x%'", "show tables like 'y'"),
    one("show global variables where variable_name = 'x'"),
    one("show full processlist"),
    one("show create table t"),
    one("show full columns from t"),
    one("show index from t"),
    one("show engine innodb status"),
    one("show warnings limit 5"),
    one("explain select a from t where b = 1"),
    one("use mysql"),
    one("begin"),
    one("start transaction"),
    one("start transaction read only"),
    one("savepoint s"),
    one("rollback to savepoint s"),
    one("commit"),
    one("rollback"),
    one("lock tables t read, u write"),
    one("unlock tables"),
    one("kill 999999999", "kill 999999998"),
    one("flush status"),
    one("do 1"),
    one("handler t open"),
    one("load data infile '/x' into table t fields terminated by ',' (a, b)"),
    one("grant select on d1.* to 'x'@'localhost'"),
    one("set password for 'x'@'localhost' = 'y'"),
    one("create user 'x'@'localhost' identified by 'y'"),
    one("drop user 'x'@'localhost'"),
    one("checksum table t"),
    one("xa start 'x'"),
    one("xa end 'x'"),
    one("xa rollback 'x'"),
    # What a server takes together, and we do not.
    ours_parts("names of user variables stay", 2, "select @a", "select @b"),
    ours_parts("names of user variables stay", 2, "set @a = 1", "set @b = 1"),
    ours_parts("synonyms stay", 2, "select distinct b from t", "select distinctrow b from t"),
    ours_parts("synonyms stay", 2, "select a from t where b regexp 'x'", "select a from t where b rlike 'x'"),
    ours_parts("synonyms stay", 2, "select now()", "select current_timestamp()"),
    ours_parts(
        "synonyms stay",
        2,
        "select a from t where b = 5 and c = some (select 1)",
        "select a from t where b = 5 and c = any (select 1)",
    ),
    ours_parts("synonyms stay", 2, "create table s1 (a int)", "create table s1 (a integer)"),
    ours_parts("synonyms stay", 2, "show columns from u", "show fields from u"),
    ours_parts("synonyms stay", 2, "explain t", "describe t"),
    ours_parts("synonyms stay", 2, "select substr(a, 1) from t", "select mid(a, 1) from t"),
)
