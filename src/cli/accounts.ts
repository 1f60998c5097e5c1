/** user and token: manage accounts and API tokens. They work with or without a running service. */

import { Command, Option } from 'commander'
import { Access } from '../actions/access/access.ts'
import { changeUser, createToken, createUser, revokeToken } from '../actions/access/people.ts'
import { removeTotp } from '../actions/access/totp.ts'
import { type Role, roles } from '../contract/values.ts'
import { isUsername } from '../domain/access/password.ts'
import { toTokenBody, toUserBody, type User } from '../domain/access/people.ts'
import { RequestError } from '../domain/errors.ts'
import { anyVersion } from '../domain/versions.ts'
import { findUserByName, listTokens, listUsers } from '../storage/people.ts'
import { openSecrets } from '../storage/secrets.ts'
import { createLog } from './log.ts'
import { actorOf, withStore } from './store.ts'
import {
  type CommonOptions,
  createCommand,
  type ExitCode,
  exitCodes,
  formatTable,
  printJson,
  readOptions,
  type Terminal,
  UsageError,
} from './terminal.ts'

interface PasswordOptions extends CommonOptions {
  readonly passwordStdin?: boolean
}

interface AddOptions extends PasswordOptions {
  readonly role: Role
}

interface TokenOptions extends CommonOptions {
  readonly name: string
  readonly role: Role
  readonly expires?: string
}

type Done = (code: ExitCode) => void

const roleOption = () => new Option('--role <role>', 'what it may do').choices(roles).makeOptionMandatory()

export function userCommand(terminal: Terminal, done: Done): Command {
  const list = createCommand('list', 'List users').action(async (options: CommonOptions) =>
    done(await printUsers(options, terminal)),
  )
  const add = passwordCommand('add', 'Add a user')
    .addOption(roleOption())
    .addHelpText('after', '\nExample: micwatch user add ana --role operator')
    .action(async (username: string, options: AddOptions) => done(await addUser(username, options, terminal)))
  const passwd = passwordCommand('passwd', 'Set the password of a user, who is signed out everywhere').action(
    async (username: string, options: PasswordOptions) => {
      const password = await readNewPassword(options, terminal)
      done(await editUser(username, { password }, 'has a new password', options, terminal))
    },
  )
  const disable = createCommand('disable', 'Refuse the sign-ins of a user, who is signed out everywhere')
    .argument('<name>', 'user name')
    .action(async (username: string, options: CommonOptions) =>
      done(await editUser(username, { is_active: false }, 'is disabled', options, terminal)),
    )
  const enable = createCommand('enable', 'Accept the sign-ins of a disabled user')
    .argument('<name>', 'user name')
    .action(async (username: string, options: CommonOptions) =>
      done(await editUser(username, { is_active: true }, 'is enabled', options, terminal)),
    )
  const removeApp = createCommand('remove-totp', 'Let a user who has lost the authenticator app sign in without it')
    .argument('<name>', 'user name')
    .action(async (username: string, options: CommonOptions) => done(await resetTotp(username, options, terminal)))
  const commands = [list, add, passwd, disable, enable, removeApp]
  return withSubcommands(new Command('user').description('Manage users'), commands)
}

export function tokenCommand(terminal: Terminal, done: Done): Command {
  const create = createCommand('create', 'Create an API token, and print it once')
    .requiredOption('--name <name>', 'name of the token, such as the program that uses it')
    .addOption(roleOption())
    .option('--expires <time>', 'a time such as 2030-12-31T00:00:00Z, or never (default: in a year)')
    .action(async (options: TokenOptions) => done(await addToken(options, terminal)))
  const list = createCommand('list', 'List API tokens').action(async (options: CommonOptions) =>
    done(await printTokens(options, terminal)),
  )
  const revoke = createCommand('revoke', 'Revoke an API token')
    .argument('<id>', 'id from micwatch token list')
    .action(async (id: string, options: CommonOptions) => done(await removeToken(id, options, terminal)))
  return withSubcommands(new Command('token').description('Manage API tokens'), [create, list, revoke])
}

/** Reads the password from standard input, or asks for it twice. */
export async function readNewPassword(options: PasswordOptions, terminal: Terminal): Promise<string> {
  if (options.passwordStdin) return terminal.readLine()
  const password = await terminal.askSecret('Password: ')
  if (password === null) throw new UsageError('there is no terminal to ask for the password; use --password-stdin')
  const again = await terminal.askSecret('Repeat password: ')
  if (again !== password) throw new Error('The passwords do not match.')
  return password
}

export function requireUsername(username: string): void {
  if (isUsername(username)) return
  throw new UsageError('user name: expected 1 to 64 letters, digits and . _ @ -, beginning with a letter or digit')
}

function passwordCommand(name: string, description: string): Command {
  return createCommand(name, description)
    .argument('<name>', 'user name')
    .option('--password-stdin', 'read the password from the first line of standard input')
}

function withSubcommands(command: Command, subcommands: readonly Command[]): Command {
  for (const subcommand of subcommands) command.addCommand(subcommand)
  return command
}

async function printUsers(options: CommonOptions, terminal: Terminal): Promise<ExitCode> {
  const config = readOptions(options, terminal, { isOffline: true })
  const users = (await withStore(config, (db) => listUsers(db.read))).map(toUserBody)
  if (options.json) printJson(terminal, { users })
  else if (users.length === 0) terminal.out('There are no users. Add an administrator with micwatch create_admin.')
  else {
    const rows = users.map(({ username, role, is_active, issuer, has_totp, last_login_at }) => [
      username,
      role,
      is_active ? 'yes' : 'no',
      issuer !== null ? 'single sign-on' : has_totp ? 'password and code' : 'password',
      last_login_at ?? 'never',
    ])
    terminal.out(formatTable(['name', 'role', 'active', 'signs in with', 'last sign-in'], rows))
  }
  return exitCodes.ok
}

async function addUser(username: string, options: AddOptions, terminal: Terminal): Promise<ExitCode> {
  requireUsername(username)
  const { role } = options
  const password = await readNewPassword(options, terminal)
  return withAccess(options, terminal, async (access) => {
    const user = await createUser(access.db, access.hasher, actorOf(terminal), { username, password, role })
    return { json: { user: toUserBody(user) }, text: `${username} was added with the role ${role}.` }
  })
}

async function editUser(
  username: string,
  change: Parameters<typeof changeUser>[3],
  outcome: string,
  options: CommonOptions,
  terminal: Terminal,
): Promise<ExitCode> {
  return withAccess(options, terminal, async (access) => {
    const known = await requireUser(access, username)
    const user = await changeUser(access, actorOf(terminal), known.id, change, anyVersion)
    return { json: { user: toUserBody(user) }, text: `${user.username} ${outcome}.` }
  })
}

async function resetTotp(username: string, options: CommonOptions, terminal: Terminal): Promise<ExitCode> {
  return withAccess(options, terminal, async (access) => {
    const known = await requireUser(access, username)
    await removeTotp(access, actorOf(terminal), known.id)
    const user = { ...known, has_totp: false }
    return { json: { user: toUserBody(user) }, text: `${user.username} signs in without an authenticator app.` }
  })
}

async function requireUser({ db }: Access, username: string): Promise<User> {
  const user = await findUserByName(db.read, username)
  if (user === null) throw new UsageError(`there is no user ${username}; see micwatch user list`)
  return user
}

async function addToken(options: TokenOptions, terminal: Terminal): Promise<ExitCode> {
  const { name, role, expires } = options
  if (name.length < 1 || name.length > 255) throw new UsageError('--name: expected 1 to 255 characters')
  const expires_at = expires === 'never' ? null : expires
  return withAccess(options, terminal, async ({ db }) => {
    const { token, text } = await createToken(db, actorOf(terminal), { name, role, expires_at })
    terminal.err('The token is shown only once. Store it like a password.')
    return { json: { ...toTokenBody(token), token: text }, text }
  })
}

async function printTokens(options: CommonOptions, terminal: Terminal): Promise<ExitCode> {
  const config = readOptions(options, terminal, { isOffline: true })
  const tokens = (await withStore(config, (db) => listTokens(db.read))).map(toTokenBody)
  if (options.json) printJson(terminal, { tokens })
  else if (tokens.length === 0) terminal.out('There are no tokens. Create one with micwatch token create.')
  else {
    const rows = tokens.map(({ id, name, role, expires_at, last_used_at, last_used_address }) => [
      id,
      name,
      role,
      expires_at ?? 'never',
      last_used_at ?? 'never',
      last_used_address,
    ])
    terminal.out(formatTable(['id', 'name', 'role', 'expires', 'last used', 'from'], rows))
  }
  return exitCodes.ok
}

async function removeToken(text: string, options: CommonOptions, terminal: Terminal): Promise<ExitCode> {
  if (!/^\d{1,15}$/.test(text)) throw new UsageError('expected the id of a token; see micwatch token list')
  const id = Number(text)
  return withAccess(options, terminal, async (access) => {
    await revokeToken(access, actorOf(terminal), id, anyVersion)
    return { json: { revoked: id }, text: `Token ${id} was revoked.` }
  })
}

/** Opens the accounts, does the work and prints its result. Problems of the input are one line and exit code 1. */
async function withAccess(
  options: CommonOptions,
  terminal: Terminal,
  work: (access: Access) => Promise<{ readonly json: object; readonly text: string }>,
): Promise<ExitCode> {
  const config = readOptions(options, terminal, { isOffline: true })
  return withStore(config, async (db) => {
    const secrets = await openSecrets(config.data_dir, config.secret_key)
    const access = new Access({ db, log: createLog(terminal, config), secrets })
    try {
      const { json, text } = await work(access)
      if (options.json) printJson(terminal, json)
      else terminal.out(text)
      return exitCodes.ok
    } catch (error) {
      if (!(error instanceof RequestError)) throw error
      terminal.err(`micwatch: ${error.message}${error.details === undefined ? '' : ` ${error.details}`}`)
      return exitCodes.failed
    } finally {
      await access.close()
    }
  })
}
