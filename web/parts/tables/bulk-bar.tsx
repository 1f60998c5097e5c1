/** Always rendered, so that selecting items does not shift the page. */

import { type ReactNode, useEffect, useRef } from 'react'
import type { Selection } from '../../app/selection.ts'
import './list.css'
import { t } from '../../app/i18n.ts'

export function BulkBar({ selection, children }: { selection: Selection; children: ReactNode }) {
  const { ids, shown, toggleAll } = selection
  const box = useRef<HTMLInputElement>(null)
  const isAll = shown > 0 && ids.length === shown
  useEffect(() => {
    if (box.current !== null) box.current.indeterminate = ids.length > 0 && !isAll
  }, [ids.length, isAll])
  return (
    <div className="bulk-bar">
      <label className="tick">
        <input
          ref={box}
          type="checkbox"
          checked={isAll}
          disabled={shown === 0}
          onChange={toggleAll}
          aria-label={t('parts.list.selectAll')}
        />
        <span role="status">
          {t(ids.length === shown ? 'parts.list.allSelected' : 'parts.list.selected', { count: ids.length, shown })}
        </span>
      </label>
      {children}
    </div>
  )
}
