/** Runs a real MQTT broker, Mosquitto: an installed one, or on Debian one that is installed on demand. */

import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { freePort } from '../../../scripts/free-port.ts'
import { until } from '../app.ts'
import type { Certificate } from '../certificates.ts'
import { onTestEnd } from '../cleanup.ts'
import { findProgram } from '../debian-package.ts'

export interface Broker {
  /** Accepts everyone, who may publish to topics below `mics/`. */
  readonly port: number
  /** Accepts only `account`. */
  readonly closedPort: number
  readonly tlsPort: number
  readonly process: ChildProcess
  /** Ends the process. Retained messages are lost. */
  stop(): Promise<void>
  /** Starts it again on the same ports. */
  start(): Promise<void>
}

export const account = { username: 'mics', password: 'mqttSecretPassword' }

/** Starts a broker that ends with the test. */
export async function startMosquitto(certificate: Certificate): Promise<Broker> {
  const program = await findProgram('mosquitto', 'mosquitto')
  const folder = await mkdtemp(join(tmpdir(), 'micwatch-mosquitto-'))
  const path = (name: string) => join(folder, name)
  const [port, closedPort, tlsPort] = [await freePort(), await freePort(), await freePort()]
  const passwords = [path('passwords'), account.username, account.password]
  await promisify(execFile)(await findProgram('mosquitto_passwd', 'mosquitto'), ['-b', '-c', ...passwords])
  await writeFile(path('key.pem'), certificate.key)
  await writeFile(path('cert.pem'), certificate.cert)
  await writeFile(path('acl'), 'topic write mics/#\ntopic read #\n')
  const lines = [
    'per_listener_settings true',
    // Otherwise Mosquitto changes to a user that cannot read this folder.
    'user root',
    // Otherwise a subscriber gets at most 1,000 of the retained messages.
    'max_queued_messages 0',
    `listener ${port} 127.0.0.1`,
    'allow_anonymous true',
    `acl_file ${path('acl')}`,
    `listener ${closedPort} 127.0.0.1`,
    'allow_anonymous false',
    `password_file ${path('passwords')}`,
    `listener ${tlsPort} 127.0.0.1`,
    'allow_anonymous true',
    `certfile ${path('cert.pem')}`,
    `keyfile ${path('key.pem')}`,
  ]
  await writeFile(path('mosquitto.conf'), `${lines.join('\n')}\n`)
  let broker: ChildProcess | undefined
  const stop = async () => {
    if (broker === undefined || broker.exitCode !== null || broker.signalCode !== null) return
    const exited = once(broker, 'exit')
    broker.kill('SIGKILL')
    await exited
  }
  const start = async () => {
    broker = spawn(program, ['-c', path('mosquitto.conf')], { stdio: 'ignore' })
    await until('Mosquitto accepts connections', () => accepts(tlsPort))
    return broker
  }
  onTestEnd(async () => {
    await stop()
    await rm(folder, { recursive: true, force: true })
  })
  return {
    port,
    closedPort,
    tlsPort,
    process: await start(),
    stop,
    async start() {
      await start()
    },
  }
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.on('connect', () => resolve(true)).on('error', () => resolve(false))
    socket.on('connect', () => socket.destroy())
  })
}
