/** scan: drives a spectrum analyser, and sends its sweeps to a running service. */

import { Command, InvalidArgumentError, Option } from 'commander'
import { type Span, SpanError } from '../domain/frequencies/analysers/span.ts'
import { highestMhz } from '../domain/frequencies/sweeps/sweep.ts'
import { childLifetime } from '../platform/wait.ts'
import { localAddressOf } from './doctor/server.ts'
import type { Analyser } from './scan/analyser.ts'
import { openRfExplorer } from './scan/open-rf-explorer.ts'
import { openTinysa } from './scan/open-tinysa.ts'
import { RowSender } from './scan/row-sender.ts'
import { runAnalyser } from './scan/run-analyser.ts'
import { runRtlPower } from './scan/run-rtl-power.ts'
import type { SweepTarget } from './scan/service-target.ts'
import { SweepSender } from './scan/sweep-sender.ts'
import { type ExitCode, exitCodes, plain, printJson, readOptions, type Terminal, UsageError } from './terminal.ts'

interface ScanOptions {
  readonly config?: string
  readonly url?: string
  readonly token?: string
  readonly source?: string
  readonly json?: boolean
}

interface AnalyserOptions extends ScanOptions {
  readonly port: string
  readonly from: number
  readonly to: number
  readonly step: number
}

type Open = (port: string, span: Span, signal: AbortSignal) => Promise<Analyser>

export function scanCommand(terminal: Terminal, done: (code: ExitCode) => void): Command {
  const analyser = (name: string, description: string, open: Open, usualStepKhz: number) =>
    withServiceOptions(new Command(name).description(description), name)
      .addOption(
        new Option('--port <port>', 'serial port, e.g. /dev/ttyACM0 or COM3, or tcp://host:port')
          .makeOptionMandatory()
          .argParser(parsePort),
      )
      .addOption(megahertz('--from <MHz>', 'lowest frequency'))
      .addOption(megahertz('--to <MHz>', 'highest frequency'))
      .addOption(
        new Option('--step <kHz>', 'distance of neighbouring frequencies').default(usualStepKhz).argParser(parseStep),
      )
      .action(async (options: AnalyserOptions) => done(await scanWith(open, name, options, terminal)))
  const rtlPower = withServiceOptions(
    new Command('rtl_power').description('Run rtl_power, and send its rows'),
    'rtl_power',
  )
    .argument('<arguments...>', 'arguments of rtl_power, after --')
    .addHelpText('after', '\nExample: micwatch scan rtl_power -- -f 470M:694M:25k -i 10')
    .action(async (args: readonly string[], options: ScanOptions) =>
      done(await scanWithRtlPower(args, options, terminal)),
    )
  return new Command('scan')
    .description('Drive a spectrum analyser, and send its sweeps to the service')
    .addCommand(rtlPower)
    .addCommand(analyser('tinysa', 'Sweep with a tinySA or tinySA Ultra', openTinysa, 25))
    .addCommand(analyser('rfexplorer', 'Sweep with an RF Explorer', openRfExplorer, 100))
}

function withServiceOptions(command: Command, source: string): Command {
  return command
    .option('--url <address>', 'address of the service (default: this machine, as configured)')
    .option('--token <token>', 'API token of an operator (default: MICWATCH_TOKEN)')
    .option('--source <name>', `name of the source in Micwatch (default: ${source})`)
    .option('--config <file>', 'configuration file (default: micwatch.yaml, if it exists)')
    .option('--json', 'print only one JSON document on standard output')
    .addHelpText(
      'after',
      '\nExit code: 0 after Ctrl+C, 1 if the analyser or the service refuses, 2 if the command line is invalid.',
    )
}

function megahertz(flags: string, description: string): Option {
  return new Option(flags, description).makeOptionMandatory().argParser((text) => {
    const value = parseNumber(text)
    if (value > 0 && value <= highestMhz) return value
    throw new InvalidArgumentError(`Expected a number above 0, up to ${highestMhz}.`)
  })
}

function parseStep(text: string): number {
  const value = parseNumber(text)
  if (value >= 1 && value <= 10_000) return value
  throw new InvalidArgumentError('Expected a number from 1 to 10000.')
}

const parseNumber = (text: string) => (/^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN)

function parsePort(text: string): string {
  if (!text.includes('://')) return text
  const url = URL.canParse(text) ? new URL(text) : null
  if (url?.protocol === 'tcp:' && url.hostname !== '' && url.port !== '') return `tcp://${url.host}`
  throw new InvalidArgumentError('Expected a serial port, or tcp://host:port.')
}

async function scanWith(open: Open, name: string, options: AnalyserOptions, terminal: Terminal): Promise<ExitCode> {
  const target = targetOf(options, name, terminal)
  const output = createOutput(terminal, target, options.json === true)
  const ending = childLifetime(terminal.signal)
  const sender = new SweepSender(target, terminal.signal, output.report, ending.abort)
  const span: Span = { fromMhz: options.from, toMhz: options.to, stepKhz: options.step }
  try {
    await runAnalyser({
      open: (signal) => open(options.port, span, signal),
      sender,
      signal: ending.signal,
      report: output.report,
      onSweep: (points, seconds) =>
        output.progress(`${sender.sent} sweeps sent, the last one with ${points} points in ${seconds.toFixed(1)} s`),
    })
    await sender.finish()
  } catch (error) {
    output.clear()
    throw error instanceof SpanError ? new UsageError(error.message) : error
  }
  return output.end({ sweeps: sender.sent })
}

async function scanWithRtlPower(args: readonly string[], options: ScanOptions, terminal: Terminal): Promise<ExitCode> {
  const target = targetOf(options, 'rtl_power', terminal)
  const output = createOutput(terminal, target, options.json === true)
  const ending = childLifetime(terminal.signal)
  let failure: unknown = null
  const sender = new RowSender(target, output.report, (error) => {
    failure = error
    ending.abort()
  })
  let rows = 0
  try {
    const onRows = (count: number) => {
      rows += count
      output.progress(`${rows} rows sent`)
    }
    await runRtlPower({ args, sender, signal: ending.signal, report: output.report, onRows })
    await sender.end()
    if (failure !== null) throw failure
  } catch (error) {
    output.clear()
    throw error
  }
  return output.end({ rows })
}

function targetOf(options: ScanOptions, name: string, terminal: Terminal): SweepTarget {
  const config = readOptions({ config: options.config }, terminal, { isOffline: true })
  const base = (options.url ?? localAddressOf(config)).replace(/\/+$/, '')
  if (!/^https?:\/\//.test(base) || !URL.canParse(base)) {
    throw new UsageError(`--url: expected http://… or https://…, found ${base}`)
  }
  return { base, token: options.token ?? terminal.env.MICWATCH_TOKEN, source: options.source ?? name }
}

/** Draws progress on a terminal, and prints one document at the end. */
function createOutput(terminal: Terminal, { base, source }: SweepTarget, isJson: boolean) {
  const clear = () => {
    if (terminal.isInteractive) terminal.err('\r\u001b[K')
  }
  return {
    clear,
    report(text: string) {
      clear()
      terminal.err(`micwatch: ${plain(text)}`)
    },
    progress(text: string) {
      if (terminal.isInteractive) terminal.err(`\r${text}\u001b[K`)
    },
    end(sent: { readonly sweeps: number } | { readonly rows: number }): ExitCode {
      clear()
      const [[unit, count] = []] = Object.entries(sent)
      if (isJson) printJson(terminal, { source, url: `${base}/`, ...sent })
      else terminal.out(`Sent ${count} ${unit} to ${plain(base)}/ as ${plain(source)}.`)
      return exitCodes.ok
    },
  }
}
