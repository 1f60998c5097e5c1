import { useWatchState } from '../../app/context.ts'
import { t } from '../../app/i18n.ts'
import type { View } from '../../app/view.ts'

interface GroupChoicesProps {
  readonly className: string
  /** Only the groups with keys, and the chosen one. */
  readonly isShort?: boolean
  readonly view: View
  change(view: Partial<View>): void
}

/** The first groups have the keys 1 to 9; 0 shows all channels (see `listCommands`). */
const lastKey = 9

export function GroupChoices({ className, isShort = false, view, change }: GroupChoicesProps) {
  const groups = useWatchState((watchState) => watchState.groups)
  const shown = groups.some(({ id }) => id === view.group) ? view.group : null
  return (
    <nav className={className} aria-label={t('live.toolbar.groups')}>
      {[{ id: null, title: t('live.toolbar.everything') }, ...groups].map(({ id, title }, index) =>
        isShort && index > lastKey && id !== shown ? null : (
          <button
            key={id}
            type="button"
            className="choice"
            aria-pressed={shown === id}
            title={title}
            onClick={() => change({ group: id })}
          >
            <bdi>{title}</bdi>{' '}
            {index > lastKey ? null : (
              <span className="key" aria-hidden="true">
                {index}
              </span>
            )}
          </button>
        ),
      )}
    </nav>
  )
}
