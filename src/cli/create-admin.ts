/** create_admin: creates an administrator, or resets an account whose password was lost. */

import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { createHasher } from '../actions/access/hasher.ts'
import { createAdmin } from '../actions/access/people.ts'
import type { Actor } from '../domain/access/access.ts'
import { toUserBody } from '../domain/access/people.ts'
import { RequestError } from '../domain/errors.ts'
import { sqlitePath } from '../storage/sqlite-file.ts'
import { readNewPassword, requireUsername } from './accounts.ts'
import { withNewStore } from './store.ts'
import {
  type CommonOptions,
  createCommand,
  type ExitCode,
  exitCodes,
  printJson,
  readOptions,
  type Terminal,
} from './terminal.ts'

interface CreateAdminOptions extends CommonOptions {
  readonly username: string
  readonly passwordStdin?: boolean
  readonly reset?: boolean
}

export function createAdminCommand(terminal: Terminal, done: (code: ExitCode) => void): Command {
  return createCommand('create_admin', 'Create an administrator')
    .requiredOption('--username <name>', 'user name of the administrator')
    .option('--password-stdin', 'read the password from the first line of standard input')
    .option('--reset', 'if the user exists: set a new password and the administrator role')
    .action(async (options: CreateAdminOptions) => done(await run(options, terminal)))
}

async function run(options: CreateAdminOptions, terminal: Terminal): Promise<ExitCode> {
  const { username, reset: isReset = false } = options
  const config = readOptions(options, terminal, { isOffline: true })
  requireUsername(username)
  const password = await readNewPassword(options, terminal)
  const path = sqlitePath(config.database_url)
  const isFirst = path !== null && !existsSync(path)
  const hasher = createHasher()
  try {
    const actor: Actor = { kind: 'cli', id: null, name: 'create_admin', role: 'admin', address: null }
    const { user, isNew } = await withNewStore(config, (db) =>
      createAdmin(db, hasher, actor, { username, password, isReset }),
    )
    if (options.json) printJson(terminal, { user: toUserBody(user), created: isNew })
    else terminal.out(isNew ? `${user.username} is an administrator.` : `${user.username} has a new password.`)
    // A missing database is normal before the first start. Later, the user has probably specified the wrong folder.
    if (isFirst) terminal.err(`There was no database at ${resolve(path)}; a new one was created.`)
    return exitCodes.ok
  } catch (error) {
    if (!(error instanceof RequestError)) throw error
    const hint = error.code === 'name_taken' ? 'Add --reset for a new password.' : error.details
    terminal.err(`micwatch: ${error.message}${hint === undefined ? '' : ` ${hint}`}`)
    return exitCodes.failed
  } finally {
    await hasher.close()
  }
}
