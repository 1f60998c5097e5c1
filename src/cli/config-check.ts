/** config check: finds every problem of the configuration. Contacts nothing, and changes nothing. */

import { Command } from 'commander'
import type { ConfigProblem } from '../config/config-error.ts'
import { listVariableWarnings } from '../config/environment.ts'
import { ConfigError, inspectConfig } from '../config.ts'
import { findProvisioningProblems } from '../http/app/provisioning.ts'
import { findConfigProblems } from '../service/config-problems.ts'
import {
  type CommonOptions,
  createCommand,
  type ExitCode,
  exitCodes,
  plain,
  printJson,
  type Terminal,
  toFlags,
} from './terminal.ts'

export function configCommand(terminal: Terminal, done: (code: ExitCode) => void): Command {
  const check = createCommand('check', 'Find every problem of the configuration; contacts nothing')
    .addHelpText('after', '\nExit code: 0 without a problem, otherwise 2.')
    .action(async (options: CommonOptions) => done(await checkConfig(options, terminal)))
  return new Command('config').description('Check the configuration').addCommand(check)
}

async function checkConfig(options: CommonOptions, terminal: Terminal): Promise<ExitCode> {
  const ofEnvironment = prepareEnvironment(terminal)
  const { config, problems, locate } = inspectConfig(toFlags(options), terminal.env)
  const ofFiles = findProvisioningProblems(config)
  const found = [...ofEnvironment, ...problems, ...(await findConfigProblems(config)), ...ofFiles].map(
    ({ cause: _, ...problem }): ConfigProblem => ({
      ...problem,
      ...(problem.file === config.file && problem.line === null && locate((problem.key ?? '').split('.'))),
    }),
  )
  const order = [null, config.file]
  const rank = ({ file }: ConfigProblem) => (order.includes(file) ? order.indexOf(file) : order.length)
  found.sort((a, b) => rank(a) - rank(b) || (a.line ?? 0) - (b.line ?? 0))
  if (options.json) {
    const warnings = listVariableWarnings(terminal.env)
    printJson(terminal, { ok: found.length === 0, file: config.file, problems: found, warnings })
  } else print(found, config.file, terminal)
  return found.length === 0 ? exitCodes.ok : exitCodes.usage
}

/** Returns the problem with the environment file, if there is one. */
function prepareEnvironment(terminal: Terminal): ConfigProblem[] {
  try {
    terminal.prepareEnvironment()
    return []
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    const place = { file: null, line: null, column: null, key: 'MICWATCH_ENVIRONMENT_FILE' }
    return [{ ...place, what: error.message, suggestion: null }]
  }
}

function print(problems: readonly ConfigProblem[], file: string | null, terminal: Terminal): void {
  for (const { file, line, column, key, what, suggestion } of problems) {
    const place = file === null ? null : [file, line, column].filter((part) => part !== null).join(':')
    terminal.out(plain([place, key, what].filter((part) => part !== null).join(': ')))
    if (suggestion !== null) terminal.out(`  ${plain(suggestion)}`)
  }
  const subject = file ?? 'The environment, with the defaults,'
  if (problems.length === 0) terminal.out(`${plain(subject)} is valid.`)
  else terminal.out(problems.length === 1 ? '\n1 problem was found.' : `\n${problems.length} problems were found.`)
}
