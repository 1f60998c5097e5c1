/** healthcheck: asks the service on this machine whether it responds, at the address that `serve` has with this configuration. */

import type { Command } from 'commander'
import { isServing, localAddressOf } from './doctor/server.ts'
import {
  type CommonOptions,
  createCommand,
  type ExitCode,
  exitCodes,
  printJson,
  readOptions,
  type Terminal,
  UsageError,
} from './terminal.ts'

export function healthcheckCommand(terminal: Terminal, done: (code: ExitCode) => void): Command {
  return createCommand('healthcheck', 'Check that the service on this machine responds, for containers and supervisors')
    .addHelpText('after', '\nExit code: 0 if it responds, otherwise 1.')
    .action(async (options: CommonOptions) => done(await checkHealth(options, terminal)))
}

async function checkHealth(options: CommonOptions, terminal: Terminal): Promise<ExitCode> {
  const config = readOptions(options, terminal, { isOffline: true })
  if (config.server.port === 0) throw new UsageError('the service chooses its port (server.port: 0); set a fixed one')
  const address = localAddressOf(config)
  const ok = await isServing(address)
  if (options.json) printJson(terminal, { ok, address })
  else terminal.out(ok ? `The service responds at ${address}/.` : `The service does not respond at ${address}/.`)
  return ok ? exitCodes.ok : exitCodes.failed
}
