import { pageNumber, useSearch } from '../../app/query.ts'
import './list.css'
import { t } from '../../app/i18n.ts'

/** `shown`: items on this page. `size`: items per page. */
export function Pager({ count, shown, size }: { count: number; shown: number; size: number }) {
  const [search, change] = useSearch()
  const page = pageNumber(search)
  const from = (page - 1) * size + 1
  if (count === 0) return null
  const go = (to: number) => change({ page: to === 1 ? null : String(to) })
  return (
    <nav className="pager" aria-label={t('parts.pager.label')}>
      <span>{t('parts.pager.range', { from, to: from + shown - 1, count })}</span>
      {count <= size && page === 1 ? null : (
        <>
          <button type="button" className="choice" disabled={page === 1} onClick={() => go(page - 1)}>
            {t('parts.pager.previous')}
          </button>
          <button type="button" className="choice" disabled={from + shown - 1 >= count} onClick={() => go(page + 1)}>
            {t('parts.pager.next')}
          </button>
        </>
      )}
    </nav>
  )
}
