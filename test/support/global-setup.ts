/** Starts one PostgreSQL for the whole run, and creates what each test copies for a database of its own (`databases.ts`). */

import type { TestProject } from 'vitest/node'
import { createTemplates, type Templates, testRoot } from './store/databases.ts'
import { runSql, startPostgres } from './store/postgres.ts'

declare module 'vitest' {
  interface ProvidedContext {
    postgresUrl: string
    templates: Templates
  }
}

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await connect(process.env.TEST_DATABASE_URL)
  const { templates, drop } = await createTemplates(server.url)
  project.provide('postgresUrl', server.url)
  project.provide('templates', templates)
  return async () => {
    await drop()
    await server.stop()
  }
}

async function connect(configuredUrl: string | undefined): Promise<{ url: string; stop(): Promise<void> }> {
  if (configuredUrl === undefined) return startPostgres({ dataRoot: testRoot })
  await runSql(configuredUrl, 'select 1')
  return { url: configuredUrl, stop: async () => {} }
}
