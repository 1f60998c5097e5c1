/** Runs the example of docs/reverse-proxy.md in a real HAProxy. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePort } from '../scripts/free-port.ts'
import { certify } from './certificates.ts'
import { onTestEnd } from './cleanup.ts'
import { createTestFolder } from './databases.ts'

const page = fileURLToPath(new URL('../docs/reverse-proxy.md', import.meta.url))

/** Starts HAProxy on a free port in front of services at these addresses, for a host name. */
export async function startHaproxy(name: string, servers: readonly string[]): Promise<{ httpsPort: number }> {
  const folder = await createTestFolder()
  const httpsPort = await freePort()
  const { cert, key } = await certify({ name })
  const certificate = join(folder.path, 'certificate.pem')
  await writeFile(certificate, `${cert}\n${key}`)
  const [, example = ''] = /```haproxy\n(.*?)```/s.exec(await readFile(page, 'utf8')) ?? []
  const serverLines = servers.map((address, index) => `    server screen-${index + 1} ${address}`).join('\n')
  const config = replaceLine(
    replaceLine(example, /^ +bind .*$/m, `    bind 127.0.0.1:${httpsPort} ssl crt ${certificate}`),
    /^ +server .*$/m,
    serverLines,
  )
  const file = join(folder.path, 'haproxy.cfg')
  await writeFile(file, config)
  // -db: in the foreground.
  const child = spawn('haproxy', ['-db', '-f', file], { stdio: 'ignore' })
  const exited = once(child, 'exit')
  onTestEnd(async () => {
    child.kill()
    await exited
    await folder.drop()
  })
  return { httpsPort }
}

function replaceLine(text: string, line: RegExp, replacement: string): string {
  if (!line.test(text)) throw new Error(`The example of HAProxy has no line ${line.source}`)
  return text.replace(line, replacement)
}
