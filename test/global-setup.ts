/** Starts one PostgreSQL for the whole run; each test creates its own database on it (`databases.ts`). */

import type { TestProject } from 'vitest/node'
import { runSql, startPostgres } from './postgres.ts'

declare module 'vitest' {
  interface ProvidedContext {
    postgresUrl: string
  }
}

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const configuredUrl = process.env.TEST_DATABASE_URL
  if (configuredUrl !== undefined) {
    await runSql(configuredUrl, 'select 1')
    project.provide('postgresUrl', configuredUrl)
    return async () => {}
  }
  const postgres = await startPostgres()
  project.provide('postgresUrl', postgres.url)
  return () => postgres.stop()
}
