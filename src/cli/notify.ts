/** notify test: sends a test message to notification channels, and prints the responses of their services. */

import { Command } from 'commander'
import { sendTest } from '../actions/alerts/edit-notification-channels.ts'
import { createDestinationsExcluding } from '../manufacturers/sources.ts'
import { listSealedChannels, type SealedChannel } from '../storage/notifications.ts'
import { openSecrets } from '../storage/secrets.ts'
import { createLog } from './log.ts'
import { actorOf, withStore } from './store.ts'
import {
  type CommonOptions,
  createCommand,
  type ExitCode,
  exitCodes,
  formatTable,
  plain,
  printJson,
  readOptions,
  type Terminal,
  UsageError,
} from './terminal.ts'

/** Works with or without a running service. */
export function notifyCommand(terminal: Terminal, done: (code: ExitCode) => void): Command {
  const test = createCommand('test', 'Send a test message, and show what the service responded')
    .argument('[channel]', 'name or id of a notification channel (default: all that are enabled)')
    .addHelpText('after', '\nExample: micwatch notify test "RF crew"')
    .action(async (channel: string | undefined, options: CommonOptions) =>
      done(await testChannels(channel, options, terminal)),
    )
  return new Command('notify').description('Test notification channels').addCommand(test)
}

async function testChannels(wanted: string | undefined, options: CommonOptions, terminal: Terminal): Promise<ExitCode> {
  const config = readOptions(options, terminal, { isOffline: true })
  const secrets = await openSecrets(config.data_dir, config.secret_key)
  return withStore(config, async (db) => {
    const selected = select(await listSealedChannels(db.read), wanted)
    const destinations = createDestinationsExcluding(config.server)
    const [{ signal }, publicUrl, log] = [terminal, config.server.public_url, createLog(terminal, config)]
    const sender = { db, secrets, publicUrl, signal, log }
    const test = async ({ id, name, type }: SealedChannel) => {
      const { isDisabled: _, ...result } = await sendTest(sender, destinations, actorOf(terminal), id)
      return { id, name, type, ...result }
    }
    const results = await Promise.all(selected.map(test))
    const ok = results.every((result) => result.ok)
    if (options.json) printJson(terminal, { ok, channels: results })
    else {
      const rows = results.map(({ id, name, type, duration_ms, ...result }) => {
        const outcome = result.ok ? 'sent' : (result.error ?? result.response ?? 'failed')
        return [id, name, type, result.status, `${duration_ms} ms`, outcome]
      })
      terminal.out(formatTable(['id', 'name', 'type', 'status', 'time', 'result'], rows))
    }
    return ok ? exitCodes.ok : exitCodes.failed
  })
}

/** Selects notification channels by id or name, or all enabled ones. */
function select(channels: readonly SealedChannel[], wanted: string | undefined): readonly SealedChannel[] {
  if (wanted === undefined) {
    const enabled = channels.filter((channel) => channel.enabled)
    if (enabled.length === 0) throw new Error('No notification channel is enabled.')
    return enabled
  }
  const named = channels.filter(({ name }) => name === wanted)
  const found = named.length > 0 ? named : channels.filter(({ id }) => String(id) === wanted)
  if (found.length === 0) {
    const names = channels.map(({ name }) => plain(name)).join(', ')
    const known = names === '' ? 'None is configured.' : `Configured: ${names}.`
    throw new UsageError(`There is no notification channel ${plain(wanted)}. ${known}`)
  }
  return found
}
