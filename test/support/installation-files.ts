/** Exports and imports as the commands do, without a process for each. */

import { exportInstallation } from '../../src/actions/installation/export-installation.ts'
import { importInstallation } from '../../src/actions/installation/import-installation.ts'
import { toInstallationFile } from '../../src/actions/installation/installation-file.ts'
import { parseInstallationFile, toYamlText } from '../../src/cli/export-import.ts'
import type { Actor } from '../../src/domain/access/access.ts'
import { createDestinationsExcluding } from '../../src/manufacturers/sources.ts'
import { openSecrets } from '../../src/storage/secrets.ts'
import type { TestApp } from './app.ts'
import { withDatabase } from './store/databases.ts'

type Installation = Pick<TestApp, 'databaseUrl' | 'dataDir'>

const actor: Actor = { kind: 'cli', id: null, name: 'test', role: 'admin', address: null }
const source = 'installation.yaml'

export async function exportFile(app: Installation, options: { withSecrets?: boolean } = {}) {
  const secrets = await openSecrets(app.dataDir)
  const installation = await withDatabase(app, (db) => exportInstallation({ db, secrets }))
  return toInstallationFile(installation, { withSecrets: options.withSecrets ?? false })
}

/** Imports a file of this text or with these records. A running service has loaded it within a second. */
export async function importFile(app: Installation & { port: number }, content: string | object) {
  const text = typeof content === 'string' ? content : toYamlText(content as Parameters<typeof toYamlText>[0])
  const file = parseInstallationFile(text, source)
  const destinations = createDestinationsExcluding({ host: '127.0.0.1', port: app.port })
  const secrets = await openSecrets(app.dataDir)
  return withDatabase(app, (db) =>
    importInstallation(db, secrets, destinations, actor, file, { isDryRun: false, source }),
  )
}
