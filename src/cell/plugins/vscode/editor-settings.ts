/**
 * The settings of VS Code before its user changes any: nothing asks, nothing calls home, nothing starts by itself. It
 * does not ask about trust because the cell keeps the workspace from doing harm.
 */
const preset: Readonly<Record<string, unknown>> = {
  'chat.disableAIFeatures': true,
  'extensions.autoCheckUpdates': false,
  'extensions.autoUpdate': false,
  'extensions.ignoreRecommendations': true,
  'files.autoSave': 'off',
  'git.openRepositoryInParentFolders': 'never',
  'json.schemaDownload.enable': false,
  'npm.fetchOnlinePackageInfo': false,
  'security.workspace.trust.enabled': false,
  'task.allowAutomaticTasks': 'off',
  'telemetry.telemetryLevel': 'off',
  'update.mode': 'none',
  'update.showReleaseNotes': false,
  'workbench.enableExperiments': false,
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'workbench.startupEditor': 'none',
  'workbench.tips.enabled': false,
};

/** Variables that the editor sets for itself; its terminals get the cell's values. */
const ownVariables = ['XDG_DATA_HOME', 'XDG_RUNTIME_DIR'];

/** The settings file, for a cell with these variables. */
export function settingsFile(
  given: Readonly<Record<string, unknown>>,
  variables: Readonly<Record<string, string>>,
): string {
  const terminal = Object.fromEntries(ownVariables.map((name) => [name, variables[name] ?? null]));
  return JSON.stringify({ ...preset, 'terminal.integrated.env.linux': terminal, ...given }, null, 2);
}
