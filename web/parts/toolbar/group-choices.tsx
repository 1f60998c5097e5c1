import { useWatchState } from '../../app/context.ts'
import { t } from '../../app/i18n.ts'
import type { View } from '../../app/view.ts'

interface GroupChoicesProps {
  readonly className: string
  readonly view: View
  change(view: Partial<View>): void
}

/** The first groups have keys (see `listCommands`). */
export function GroupChoices({ className, view, change }: GroupChoicesProps) {
  const groups = useWatchState((watchState) => watchState.groups)
  const shown = groups.some(({ id }) => id === view.group) ? view.group : null
  return (
    <nav className={className} aria-label={t('live.toolbar.groups')}>
      {[{ id: null, title: t('live.toolbar.everything') }, ...groups].map(({ id, title }, index) => (
        <button
          key={id}
          type="button"
          className="choice"
          aria-pressed={shown === id}
          onClick={() => change({ group: id })}
        >
          <bdi>{title}</bdi>{' '}
          {index > 9 ? null : (
            <span className="key" aria-hidden="true">
              {index}
            </span>
          )}
        </button>
      ))}
    </nav>
  )
}
