/** Runs the examples of docs/reverse-proxy.md in the real programs. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { certify } from './certificates.ts'
import { onTestEnd } from './cleanup.ts'
import { findProgram } from './debian-package.ts'
import { createTestFolder } from './store/databases.ts'

const page = fileURLToPath(new URL('../../docs/reverse-proxy.md', import.meta.url))

export const proxies = ['caddy', 'nginx', 'haproxy'] as const
type Proxy = (typeof proxies)[number]

interface Site {
  /** The host name in the certificate. */
  readonly name: string
  readonly httpsPort: number
  /** The addresses of the services, each with its port. The example of nginx has one service. */
  readonly services: readonly string[]
}

interface Example {
  /** Replaces each line that names the site, its ports or its files; `folder` has the files of `certificateFiles`. */
  lines(site: Site, folder: string): readonly (readonly [RegExp, string])[]
  /** Completes the example to a configuration. */
  complete?(example: string): string
  args(configFile: string, folder: string): readonly string[]
}

const certificateFiles = { cert: 'cert.pem', key: 'key.pem', certAndKey: 'both.pem' }

const examples: Record<Proxy, Example> = {
  caddy: {
    lines: ({ name, httpsPort, services }, folder) => [
      [/^mics\.venue\.example \{$/m, `https://${name}:${httpsPort} {`],
      [
        /reverse_proxy .*/,
        `bind 127.0.0.1\n\ttls ${join(folder, certificateFiles.cert)} ${join(folder, certificateFiles.key)}\n\treverse_proxy ${services.join(' ')}`,
      ],
    ],
    complete: (example) => `{\n\tadmin off\n\tauto_https disable_redirects\n}\n${example}`,
    args: (configFile) => ['run', '--adapter', 'caddyfile', '--config', configFile],
  },
  nginx: {
    lines: ({ name, httpsPort, services: [service] }, folder) => [
      [/listen 443 ssl;/, `listen 127.0.0.1:${httpsPort} ssl;`],
      [/listen 80;/, `listen unix:${join(folder, 'http.sock')};`],
      [/server_name .*/g, `server_name ${name};`],
      [/ssl_certificate .*/, `ssl_certificate ${certificateFiles.cert};`],
      [/ssl_certificate_key .*/, `ssl_certificate_key ${certificateFiles.key};`],
      [/proxy_pass .*/, `proxy_pass http://${service};`],
    ],
    complete: (example) =>
      `daemon off;\nmaster_process off;\npid nginx.pid;\nevents {}\nhttp {\naccess_log off;\n${example}}\n`,
    args: (configFile, folder) => ['-e', 'stderr', '-p', folder, '-c', configFile],
  },
  haproxy: {
    lines: ({ httpsPort, services }, folder) => [
      [/^ +bind .*$/m, `    bind 127.0.0.1:${httpsPort} ssl crt ${join(folder, certificateFiles.certAndKey)}`],
      [/^ +server .*$/m, services.map((address, index) => `    server screen-${index + 1} ${address}`).join('\n')],
    ],
    // -db: in the foreground.
    args: (configFile) => ['-db', '-f', configFile],
  },
}

/** Returns the path of the program, which is installed if it is not. */
export const findProxy = (proxy: Proxy) => findProgram(proxy, proxy)

/** Starts the program with its example in front of services, until the end of the test. */
export async function startExample(proxy: Proxy, site: Site): Promise<void> {
  const program = await findProxy(proxy)
  const folder = await createTestFolder()
  const { cert, key } = await certify({ name: site.name })
  const files = { cert, key, certAndKey: `${cert}\n${key}` }
  for (const [name, content] of Object.entries(files)) {
    await writeFile(join(folder.path, certificateFiles[name as keyof typeof files]), content)
  }
  const { lines, complete = (example: string) => example, args } = examples[proxy]
  const configFile = join(folder.path, 'config')
  const filled = lines(site, folder.path).reduce(replaceLine, await readExample(proxy))
  await writeFile(configFile, complete(filled))
  runProxy(program, args(configFile, folder.path), folder)
}

/** Runs the program until the end of the test, with the folder as its home. */
export function runProxy(
  program: string,
  args: readonly string[],
  { path, drop }: Awaited<ReturnType<typeof createTestFolder>>,
): void {
  const child = spawn(program, args, { env: { PATH: process.env.PATH, HOME: path }, stdio: 'ignore' })
  const exited = once(child, 'exit')
  onTestEnd(async () => {
    child.kill()
    await exited
    await drop()
  })
}

async function readExample(proxy: Proxy): Promise<string> {
  const language = proxy === 'caddy' ? 'caddyfile' : proxy
  const [, example = ''] = new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, 's').exec(await readFile(page, 'utf8')) ?? []
  return example
}

function replaceLine(text: string, [line, replacement]: readonly [RegExp, string]): string {
  if (text.search(line) === -1) throw new Error(`An example of docs/reverse-proxy.md has no line ${line.source}`)
  return text.replace(line, replacement)
}
