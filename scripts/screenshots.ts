/** Makes the pictures of the README: the demo as it looks after a while, on a wall, on a desk and on a phone. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { launchChromium } from '../test/chromium.ts'

const folder = fileURLToPath(new URL('../docs/images/', import.meta.url))
const screens = [
  { name: 'wall', viewport: { width: 1920, height: 1080 }, path: '/wall' },
  { name: 'desk', viewport: { width: 1440, height: 900 }, path: '/' },
  { name: 'phone', viewport: { width: 390, height: 844 }, path: '/' },
]
/** Until a battery runs low, somebody moves and a receiver goes offline: the story of the demo. */
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
  console.log(`The demo plays for ${storyMs / 1000} s …`)
  await new Promise((resolve) => setTimeout(resolve, storyMs))
  for (const [at, page] of pages.entries()) {
    await page.screenshot({ path: `${folder}${screens[at]?.name}.png` })
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
