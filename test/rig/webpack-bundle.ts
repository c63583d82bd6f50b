import path from 'node:path';
import webpack from 'webpack';

/** Bundles the app in a folder into its `dist/main.js`, and returns that path. */
export async function webpackBundle(root: string, config: webpack.Configuration): Promise<string> {
  const compiler = webpack({
    context: root,
    entry: './src/main.ts',
    output: { path: path.join(root, 'dist'), filename: 'main.js' },
    resolve: { extensions: ['.ts', '.js'] },
    module: {
      rules: [{ test: /\.ts$/, use: path.join(import.meta.dirname, 'strip-types-loader.cjs') }],
    },
    ...config,
  });
  const stats = await new Promise<webpack.Stats | undefined>((done, failed) =>
    compiler.run((error, result) => (error ? failed(error) : done(result))),
  );
  if (stats?.hasErrors()) throw new Error(stats.toString());
  return path.join(root, 'dist/main.js');
}
