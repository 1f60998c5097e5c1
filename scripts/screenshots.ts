/** Takes the README's screenshots of the demo: the wall, the monitor, and the monitor on a phone. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { launchChromium } from '../test/chromium.ts'

const folder = fileURLToPath(new URL('../docs/images/', import.meta.url))
const screens = [
  { name: 'wall', viewport: { width: 1920, height: 1080 }, path: '/wall' },
  { name: 'monitor', viewport: { width: 1440, height: 900 }, path: '/' },
  { name: 'phone', viewport: { width: 390, height: 844 }, path: '/' },
]
/** The time that the demo takes until a battery is low, a receiver's address has changed, and a receiver is offline. */
const storyMs = 150_000

const demo = spawn(process.execPath, ['dist/main.js', 'serve', '--demo', '--json', '--port', '0'], {
  cwd: fileURLToPath(new URL('..', import.meta.url)),
  stdio: ['ignore', 'pipe', 'inherit'],
})
const browser = await launchChromium()
try {
  const address = await readAddress()
  await mkdir(folder, { recursive: true })
  const pages = await Promise.all(
    screens.map(async ({ viewport, path }) => {
      const page = await browser.newPage({ viewport, colorScheme: 'dark' })
      await page.goto(new URL(path, address).href)
      return page
    }),
  )
  console.log(`Running the demo for ${storyMs / 1000} s …`)
  await new Promise((resolve) => setTimeout(resolve, storyMs))
  for (const [index, page] of pages.entries()) {
    await page.screenshot({ path: `${folder}${screens[index]?.name}.png` })
  }
} finally {
  await browser.close()
  demo.kill('SIGTERM')
  await once(demo, 'exit')
}

async function readAddress(): Promise<string> {
  let text = ''
  for await (const line of createInterface({ input: demo.stdout })) {
    text += line
    if (line === '}') break
  }
  return (JSON.parse(text) as { address: string }).address
}
