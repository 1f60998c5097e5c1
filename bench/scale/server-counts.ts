/** Activity counters of PostgreSQL and Redis. */

import { Redis } from 'ioredis'
import pg from 'pg'
import type { AtEnd } from '../harness.ts'
import type { Deployment } from './nodes.ts'

type Counts = Readonly<Record<string, number>>

export async function openServerCounts(atEnd: AtEnd, { database, redis }: Pick<Deployment, 'database' | 'redis'>) {
  const client = new pg.Client({ connectionString: database })
  await client.connect()
  atEnd(() => client.end())
  const cache = new Redis(redis)
  atEnd(() => cache.disconnect())
  return {
    async read(): Promise<Counts> {
      const { rows } = await client.query(
        `select xact_commit, tup_inserted + tup_updated + tup_deleted as written, tup_fetched, numbackends
         from pg_stat_database where datname = current_database()`,
      )
      const [{ xact_commit, written, tup_fetched, numbackends }] = rows
      const info = await cache.info()
      const readCounter = (name: string) => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1])
      return {
        commits: Number(xact_commit),
        written: Number(written),
        fetched: Number(tup_fetched),
        connections: Number(numbackends) - 1,
        commands: readCounter('total_commands_processed'),
        in: readCounter('total_net_input_bytes'),
        out: readCounter('total_net_output_bytes'),
      }
    },
    /** Returns rates per second between two readings, and the number of connections at the second reading. */
    since(before: Counts, after: Counts, seconds: number): Counts {
      const rate = (name: string) => ((after[name] ?? 0) - (before[name] ?? 0)) / seconds
      return {
        postgres_connections: after.connections ?? 0,
        postgres_commits_per_second: rate('commits'),
        postgres_rows_written_per_second: rate('written'),
        postgres_rows_fetched_per_second: rate('fetched'),
        redis_commands_per_second: rate('commands'),
        redis_in_kb_per_second: rate('in') / 1000,
        redis_out_kb_per_second: rate('out') / 1000,
      }
    },
  }
}
