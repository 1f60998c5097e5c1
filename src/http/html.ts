/** HTML: who prefers it, and text inside it. */

/** Whether a client asks for HTML rather than for JSON (RFC 9110, 12.5.1). Without `Accept` anything will do. */
export function prefersHtml(accept = '*/*'): boolean {
  const ranges = accept.split(',').map(parseRange)
  return qualityOf('text/html', ranges) > qualityOf('application/json', ranges)
}

interface MediaRange {
  readonly type: string
  readonly quality: number
}

function parseRange(text: string): MediaRange {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase())
  const weight = parameters.find((parameter) => parameter.startsWith('q='))
  const quality = weight === undefined ? 1 : Number(weight.slice('q='.length))
  return { type, quality: Number.isNaN(quality) ? 0 : quality }
}

/** The most specific range decides. */
function qualityOf(type: string, ranges: readonly MediaRange[]): number {
  const wider = [type, type.replace(/\/.*/, '/*'), '*/*']
  for (const one of wider) {
    const range = ranges.find((candidate) => candidate.type === one)
    if (range !== undefined) return range.quality
  }
  return 0
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? '')
}
