/** The content of a capture, as it is saved. */

import { useDeferredValue, useMemo, useState } from 'react'
import { privateKinds } from '../../src/domain/captures.ts'
import { isRecord } from '../../src/domain/json.ts'
import { formatList } from '../app/format.ts'
import { t } from '../app/i18n.ts'

const pageLines = 200

export function CaptureFile({ file }: { file: string }) {
  const lines = useMemo(() => file.split('\n').filter((line) => line !== ''), [file])
  const [search, setSearch] = useState('')
  const [from, setFrom] = useState(0)
  const wanted = useDeferredValue(search.trim().toLowerCase())
  const found = useMemo(() => {
    const numbered = lines.map((text, index) => ({ number: index + 1, text }))
    return wanted === '' ? numbered : numbered.filter(({ text }) => text.toLowerCase().includes(wanted))
  }, [lines, wanted])
  const shown = found.slice(from, from + pageLines)
  return (
    <div className="capture-file">
      <p>{replacedText(lines[0])}</p>
      <label className="capture-search">
        <span>{t('capture.search')}</span>
        <input
          className="input"
          type="search"
          value={search}
          onChange={({ target }) => {
            setSearch(target.value)
            setFrom(0)
          }}
        />
      </label>
      <p role="status">
        {found.length === 0
          ? t('capture.notFound')
          : t('capture.lines', { from: from + 1, to: from + shown.length, count: found.length })}
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable with the keyboard. */}
      <section className="capture-lines" tabIndex={0} aria-label={t('capture.content')}>
        <ol>
          {shown.map(({ number, text }) => (
            <li key={number} value={number}>
              <bdi>{text}</bdi>
            </li>
          ))}
        </ol>
      </section>
      {found.length <= pageLines ? null : (
        <div className="capture-pages">
          <button
            type="button"
            className="choice"
            disabled={from === 0}
            onClick={() => setFrom(Math.max(0, from - pageLines))}
          >
            {t('capture.previous')}
          </button>
          <button
            type="button"
            className="choice"
            disabled={from + pageLines >= found.length}
            onClick={() => setFrom(from + pageLines)}
          >
            {t('capture.next')}
          </button>
        </div>
      )}
    </div>
  )
}

/** Reads the number of replaced values from the header. */
function replacedText(header = '{}'): string {
  const { replaced } = JSON.parse(header) as { readonly replaced?: unknown }
  const counts = privateKinds.flatMap((kind) => {
    const count = isRecord(replaced) ? Number(replaced[kind] ?? 0) : 0
    return count === 0 ? [] : [t(`capture.kinds.${kind}`, { count })]
  })
  return counts.length === 0 ? t('capture.nothingReplaced') : t('capture.replaced', { values: formatList(counts) })
}
