/** healthcheck: asks the service on this machine whether it responds, at the address that `serve` has with this configuration. */

import type { Command } from 'commander'
import { toConfigError } from '../config/config-error.ts'
import { inspectConfig } from '../config.ts'
import { isServing, localAddressOf } from './doctor/server.ts'
import {
  type CommonOptions,
  createCommand,
  type ExitCode,
  exitCodes,
  printJson,
  type Terminal,
  toFlags,
  UsageError,
} from './terminal.ts'

export function healthcheckCommand(terminal: Terminal, done: (code: ExitCode) => void): Command {
  return createCommand('healthcheck', 'Check that the service on this machine responds, for containers and supervisors')
    .addHelpText('after', '\nExit code: 0 if it responds, otherwise 1.')
    .action(async (options: CommonOptions) => done(await checkHealth(options, terminal)))
}

async function checkHealth(options: CommonOptions, terminal: Terminal): Promise<ExitCode> {
  terminal.prepareEnvironment()
  const { config, problems } = inspectConfig(toFlags(options), terminal.env, { isOffline: true })
  const [problem] = problems
  if (problem === undefined && config.server.port === 0)
    throw new UsageError('the service chooses its port (server.port: 0); set a fixed one')
  const address = localAddressOf(config)
  const ok = await isServing(address)
  // A file that is edited while the service runs must not make an orchestrator end the service.
  if (!ok && problem !== undefined) throw toConfigError(problem)
  if (options.json) printJson(terminal, { ok, address })
  else terminal.out(ok ? `The service responds at ${address}/.` : `The service does not respond at ${address}/.`)
  return ok ? exitCodes.ok : exitCodes.failed
}
